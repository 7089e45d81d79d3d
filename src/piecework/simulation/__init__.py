"""Everything simulated: crowds, pictures, rehearsals and forecasts. Live code never imports it."""
