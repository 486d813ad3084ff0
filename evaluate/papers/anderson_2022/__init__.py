"""The claims of Anderson et al. (2022)."""
