"""The player by values, which ``train response`` trains."""
