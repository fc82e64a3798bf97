"""Makes aioapns 4.0 use HTTPS_PROXY, which it does not do by itself: import this module before the first push."""
import asyncio
import os
import urllib.parse

from aioapns import connection


async def create_connection(self, factory):
    proxy, host = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"]), self.protocol_class.APNS_SERVER
    reader, writer = await asyncio.open_connection(proxy.hostname, proxy.port)
    writer.write(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200" not in head.split(b"\r\n")[0]:
        raise ConnectionError(head.decode())
    protocol = factory()
    transport = await self.loop.start_tls(writer.transport, protocol, self.ssl_context, server_hostname=host)
    protocol.connection_made(transport)
    return protocol


for pool in (connection.APNsKeyConnectionPool, connection.APNsCertConnectionPool):
    pool._create_connection = create_connection
