"""The demo as several processes that a Redis connects."""

import os

from demo_project.settings import *  # noqa: F403

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [os.environ["LIVE_REDIS"]]},
    }
}
