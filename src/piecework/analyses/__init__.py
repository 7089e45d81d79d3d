"""What is computed from accepted answers: one method a module, frames in and out."""
