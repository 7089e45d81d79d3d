"""Review policies: answers judged by rules that a requester left with the HIT."""
