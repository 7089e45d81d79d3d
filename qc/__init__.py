"""Quality control: frames in, findings with evidence out. Pure."""
