"""One call of Prolific's API: address, token, waiting, answers, pages of a listing."""
