"""What is computed from accepted answers: frames in and out."""
