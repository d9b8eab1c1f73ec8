//! The address that a server listens on.

use std::net::{IpAddr, ToSocketAddrs};

/// Parses an address or a name of this machine, such as `localhost`. Of the addresses of a name,
/// the first one of IPv4 is taken, if it has one.
pub fn address(text: &str) -> Result<IpAddr, String> {
    if let Ok(address) = text.trim_matches(['[', ']']).parse() {
        return Ok(address);
    }
    let found = (text, 0).to_socket_addrs();
    let found = found.map_err(|_| "expected an address such as 127.0.0.1, or a name".to_owned())?;
    let mut addresses: Vec<IpAddr> = found.map(|socket| socket.ip()).collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    let first = addresses.first().copied();
    first.ok_or_else(|| "the name has no address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn names_and_addresses_are_accepted() {
        for (text, expected) in [
            ("127.0.0.1", "127.0.0.1"),
            ("0.0.0.0", "0.0.0.0"),
            ("::1", "::1"),
            ("[::1]", "::1"),
        ] {
            assert_eq!(
                address(text).map(|found| found.to_string()),
                Ok(expected.to_owned())
            );
        }
        assert!(address("localhost").is_ok_and(|found| found.is_loopback()));
        for text in ["", "127.0.0.1:80", "a b"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
