//! The address of a bucket.

use std::path::PathBuf;

use crate::RemoteError;

/// Whether this is the address of a bucket rather than a path.
pub fn is_remote_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Where objects are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Folder(PathBuf),
    /// A bucket of a cloud, and what all names in it begin with: nothing, or folders that end with a
    /// slash.
    Bucket {
        scheme: &'static str,
        bucket: String,
        prefix: String,
    },
}

const CLOUDS: [&str; 3] = ["s3", "gs", "az"];

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, RemoteError> {
        let bad = |reason| Err(RemoteError::BadUrl { reason });
        let Some((scheme, rest)) = url.split_once("://") else { return bad("has no scheme") };
        if scheme == "file" {
            let path = PathBuf::from(rest);
            return if path.is_absolute() {
                Ok(Self::Folder(path))
            } else {
                bad("is not absolute")
            };
        }
        let Some(scheme) = CLOUDS.into_iter().find(|known| *known == scheme) else {
            return bad("has another scheme");
        };
        if rest.contains(['@', '?', '#']) {
            return bad(
                "has more than a bucket and a prefix; credentials come from the environment",
            );
        }
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let plain = |text: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || "._-=+".contains(c);
            !text.is_empty() && text != "." && text != ".." && text.chars().all(known)
        };
        if !plain(bucket) {
            return bad("has no bucket, or one with other characters than letters, digits and ._-");
        }
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        if !prefix.is_empty() && !prefix.split('/').all(plain) {
            return bad("has a prefix with other characters than letters, digits and ._-=+/");
        }
        let slash = if prefix.is_empty() { "" } else { "/" };
        Ok(Self::Bucket { scheme, bucket: bucket.to_owned(), prefix: format!("{prefix}{slash}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_buckets_and_folders() {
        let bucket = |scheme, bucket: &str, prefix: &str| Address::Bucket {
            scheme,
            bucket: bucket.into(),
            prefix: prefix.into(),
        };
        assert_eq!(Address::parse("s3://lab/a/b").unwrap(), bucket("s3", "lab", "a/b/"));
        assert_eq!(Address::parse("gs://lab.x-1/").unwrap(), bucket("gs", "lab.x-1", ""));
        assert_eq!(Address::parse("az://lab").unwrap(), bucket("az", "lab", ""));
        assert_eq!(Address::parse("file:///a/b").unwrap(), Address::Folder("/a/b".into()));
        assert!(is_remote_url("s3://x") && is_remote_url("ftp://x"));
        assert!(!is_remote_url("runs") && !is_remote_url("://x") && !is_remote_url("a b://x"));
    }

    #[test]
    fn what_may_hold_a_secret_is_refused_and_not_repeated() {
        for url in [
            "s3://AKIA:hunter2@lab/x",
            "s3://lab/x?X-Amz-Signature=hunter2",
            "az://lab#hunter2",
            "https://hunter2.example.org",
            "hunter2",
        ] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(
                error.starts_with("the address of the bucket has ") && !error.contains("hunter2")
            );
        }
        for url in ["s3://", "s3:///x", "s3://lab/../x", "s3://lab/a//b", "s3://l b", "file://x"] {
            assert!(matches!(Address::parse(url), Err(RemoteError::BadUrl { .. })), "{url}");
        }
    }
}
