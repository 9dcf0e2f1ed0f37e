"""What of the session model is shown: blocks of the transcript, questions, status, and paced frames."""
