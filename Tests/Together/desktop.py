"""A desktop for tests: org.freedesktop.Notifications on a private bus, which shows nothing.

desktop.py ADDRESS STALL

The text of a notification begins with how it ends: ok, refuse, stall, slow, click, action, dismiss, die.
"""

import os
import sys

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


class Refused(dbus.DBusException):
    _dbus_error_name = "org.example.Refused"


class Desktop(dbus.service.Object):
    last = 0

    @dbus.service.method(NAME, in_signature="", out_signature="as")
    def GetCapabilities(self):
        return ["actions", "body", "persistence"]

    @dbus.service.method(NAME, in_signature="", out_signature="ssss")
    def GetServerInformation(self):
        return "desktop", "tests", "1", "1.2"

    @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u", async_callbacks=("give", "fail"))
    def Notify(self, app, replaces, icon, summary, body, actions, hints, timeout, give, fail):
        self.last += 1
        number, end = self.last, str(body).split(" ")[0]
        if end == "die":
            os._exit(9)
        if end == "refuse":
            fail(Refused("not today"))
            return
        if end == "stall":
            GLib.timeout_add(int(float(sys.argv[2]) * 1000), give, number)
            return
        if end == "slow":
            GLib.timeout_add(200, give, number)
            return
        give(number)
        if end == "click":
            GLib.timeout_add(20, self.ActionInvoked, number, "default")
            GLib.timeout_add(25, self.NotificationClosed, number, 2)
        elif end == "action":
            GLib.timeout_add(20, self.ActionInvoked, number, "yes")
        elif end == "dismiss":
            GLib.timeout_add(20, self.NotificationClosed, number, 2)

    @dbus.service.method(NAME, in_signature="u", out_signature="")
    def CloseNotification(self, number):
        pass

    @dbus.service.signal(NAME, signature="us")
    def ActionInvoked(self, number, action):
        pass

    @dbus.service.signal(NAME, signature="uu")
    def NotificationClosed(self, number, reason):
        pass


DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(sys.argv[1])
bus.set_exit_on_disconnect(True)
bus.request_name(NAME, dbus.bus.NAME_FLAG_REPLACE_EXISTING | dbus.bus.NAME_FLAG_ALLOW_REPLACEMENT)
desktop = Desktop(bus, "/org/freedesktop/Notifications")
GLib.MainLoop().run()
