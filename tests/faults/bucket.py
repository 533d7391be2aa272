"""A bucket on a stand-in for S3."""

import datetime
import hashlib
import hmac
import os
import urllib.request


def create_bucket(endpoint, name):
    """Signed by hand, so that no library is needed."""
    host = endpoint.removeprefix("http://")
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    nothing = hashlib.sha256(b"").hexdigest()
    headers = {"host": host, "x-amz-content-sha256": nothing, "x-amz-date": now}
    names = ";".join(headers)
    canonical = "\n".join(["PUT", f"/{name}", "", *[f"{key}:{value}" for key, value in headers.items()], "",
                           names, nothing])
    scope = f"{now[:8]}/us-east-1/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = b"AWS4" + os.environ["STAND_INS_SECRET_KEY"].encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={os.environ['STAND_INS_ACCESS_KEY']}/{scope}, "
                                f"SignedHeaders={names}, Signature={signature}")
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}", method="PUT", headers=headers)).close()
