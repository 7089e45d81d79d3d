"""What an operator watches: metrics for Prometheus, and a log of requests."""
