"""Who may do what: tokens with roles and studies, log-ins, and the log in which all of it stands."""
