"""Metrics of passes, in a file that Prometheus' node_exporter reads."""
