"""Knowledge of English and of the campaign's own words for the spelling rules."""
