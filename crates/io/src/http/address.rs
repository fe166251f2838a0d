//! Addresses: their parts, and where a redirect leads.

/// Scheme (`http` or `https`), host with port, and the rest from the first slash on.
pub fn split_url(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let fine = matches!(scheme, "http" | "https") && !host.is_empty() && !host.contains('@');
    fine.then_some((scheme, host, path))
}

/// Whether an address is on this machine.
pub fn is_loopback(url: &str) -> bool {
    let host = split_url(url).map_or("", |(_, host, _)| host);
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|local| {
        host.strip_prefix(local).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    })
}

/// Whether two addresses have the same scheme, host and port.
pub fn same_origin(a: &str, b: &str) -> bool {
    let origin = |url| {
        let (scheme, host, _) = split_url(url)?;
        let port = if scheme == "https" { ":443" } else { ":80" };
        Some((scheme, host.strip_suffix(port).unwrap_or(host).to_ascii_lowercase()))
    };
    origin(a).is_some() && origin(a) == origin(b)
}

/// Where a redirect leads to, from an address.
pub(super) fn join(from: &str, location: &str) -> Option<String> {
    let (scheme, host, path) = split_url(from)?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let to = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{host}{location}")
    } else {
        let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
        format!("{scheme}://{host}{folder}{location}")
    };
    split_url(&to).is_some().then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for yes in ["http://127.0.0.1:80/x", "http://localhost/x", "http://[::1]:1/"] {
            assert!(is_loopback(yes), "{yes}");
        }
        let others = ["http://127.0.0.1.evil.org/", "http://localhosts/", "https://a.b/localhost"];
        for no in others {
            assert!(!is_loopback(no), "{no}");
        }
    }

    #[test]
    fn origins_differ_by_scheme_host_and_port() {
        assert!(same_origin("https://a.b/x", "https://A.b:443/y?z"));
        for other in ["http://a.b/x", "https://a.b:444/", "https://c.a.b/", "ftp://a.b/", "a.b"] {
            assert!(!same_origin("https://a.b/x", other), "{other}");
        }
        assert!(!same_origin("nonsense", "nonsense"));
    }

    #[test]
    fn redirects_may_be_relative() {
        let to = |location| join("https://a.b/c/d?e=f/g", location);
        assert_eq!(to("http://x.y/z").unwrap(), "http://x.y/z");
        assert_eq!(to("//x.y/z").unwrap(), "https://x.y/z");
        assert_eq!(to("/z?q").unwrap(), "https://a.b/z?q");
        assert_eq!(to("z").unwrap(), "https://a.b/c/z");
        assert_eq!(join("https://a.b", "z").unwrap(), "https://a.b/z");
        assert_eq!(to("file:///etc/passwd"), None);
        assert_eq!(to("https://user@x.y/"), None);
    }
}
