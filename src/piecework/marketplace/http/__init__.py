"""The marketplace's HTTP side: sockets, routes, limits, rehearsal controls."""
