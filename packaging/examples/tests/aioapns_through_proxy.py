"""Makes aioapns 4.0 use HTTPS_PROXY, which it does not do by itself: import this module before the first push."""
import http.client
import os
import urllib.parse

from aioapns import connection


async def create_connection(self, factory):
    proxy, host = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"]), self.protocol_class.APNS_SERVER
    tunnel = http.client.HTTPConnection(proxy.hostname, proxy.port)
    tunnel.set_tunnel(host, 443)
    await self.loop.run_in_executor(None, tunnel.connect)
    _, protocol = await self.loop.create_connection(
        factory, sock=tunnel.sock, ssl=self.ssl_context, server_hostname=host)
    return protocol


for pool in (connection.APNsKeyConnectionPool, connection.APNsCertConnectionPool):
    pool._create_connection = create_connection
