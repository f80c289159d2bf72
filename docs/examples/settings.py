MCP_SERVER = {
    "ENDPOINTS": {
        "default": {"TITLE": "Our shop", "INSTRUCTIONS": "Amounts are in euros."},
        "code": {"CODE_MODE": "on"},
    },
    "LIMITS": {"wall_time_limit_ms": 30_000},
    "RATE_LIMITS": {"default": "120/m"},
    "SANDBOX": {"REQUIRE_CONFINEMENT": True},
    "LOG": {"KEEP_DAYS": 30, "REDACT": ["password", "token", "iban"]},
}
