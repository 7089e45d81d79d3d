"""What the spelling rule knows of English and of the campaign's own words."""
