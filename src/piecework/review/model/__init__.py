"""What people decide: verdicts, rejections taken back, a campaign stopped."""
