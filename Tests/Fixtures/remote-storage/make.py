"""Writes the files of this directory: UserDefaults as the documented RemoteStorage samples fill them, each mistake once."""
import base64, json, plistlib

def swift(fields):  # PropertyListEncoder().encode(UserAttribute...)
    return plistlib.dumps(fields, fmt=plistlib.FMT_BINARY)

def objective_c(field, attribute_type):  # NSKeyedArchiver, the sample's encodeWithCoder:
    return plistlib.dumps({
        "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": plistlib.UID(1)},
        "$objects": ["$null",
                     {"$class": plistlib.UID(3), "userField": plistlib.UID(2), "attributeType": attribute_type},
                     field, {"$classname": "UserAttribute", "$classes": ["UserAttribute", "NSObject"]}],
    }, fmt=plistlib.FMT_BINARY)

read = {"event_name": "article_read", "section": "sport", "words": 812, "share": 0.5, "paid": True}
storage = {
    "AppleLanguages": ["de-DE"],
    "pending_custom_events": [
        read, dict(read), {"event_name": 5, "a": 1}, {"section": "sport"}, {"eventName": "gelesen ü"},
        {"event_name": "sold", "time": "now"}, {"event_name": "raw", "bytes": b"abc"}, "no dictionary"],
    "pending_custom_attributes": [
        {"plan": "free", "tags": ["a", "b"], "visits": 3}, {"event_name": "strayed", "k": "v"}, {}],
    "pending_user_attributes": [
        swift({"email": "anna@example.com"}), objective_c("ben@example.com", 0), objective_c("x", 1), swift({}),
        b"junk", swift({"phone_number": "+4915112345678"})],
}
plain = dict(storage)
plain["pending_custom_events"] = [e for e in storage["pending_custom_events"] if not (isinstance(e, dict) and "bytes" in e)]
plain["pending_user_attributes"] = [{"email": "anna@example.com"}] + [
    base64.b64encode(data).decode() for data in storage["pending_user_attributes"][1:]]
with open("group.com.example.shop.plist", "wb") as file: plistlib.dump(storage, file, fmt=plistlib.FMT_BINARY)
with open("shop.xml.plist", "wb") as file: plistlib.dump(storage, file, fmt=plistlib.FMT_XML)
with open("shop.json", "w") as file: json.dump(plain, file, indent=2, ensure_ascii=False)
