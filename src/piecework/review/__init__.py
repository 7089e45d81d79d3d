"""The reviewer's page: what waits for people, card by card. It spends nothing."""
