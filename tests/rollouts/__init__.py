"""Rollouts of whole sites."""
