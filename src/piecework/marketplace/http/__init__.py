"""How a marketplace is reached: sockets, routes, limits, controls of a rehearsal."""
