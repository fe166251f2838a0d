//! Where runs are kept: a folder of this machine, alone or beside a bucket.

use std::path::{Path, PathBuf};

use dissensus_core::{Cancel, Progress};
use dissensus_remote::is_remote_url;
use dissensus_store::Store;
use dissensus_studies::Plan;

use crate::Error;
use crate::buckets::SharedStudy;

/// A folder of runs, and the bucket that they are pulled from and pushed to, where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The folder on this machine.
    pub folder: PathBuf,
    /// The address of the bucket.
    pub bucket: Option<String>,
}

impl Location {
    /// The folder beside a bucket where none is named.
    pub const BESIDE: &str = "runs";

    /// A folder, or the address of a bucket; `local` is the folder beside the bucket.
    pub fn parse(place: &Path, local: Option<&Path>) -> Result<Self, Error> {
        let url = place.to_str().filter(|text| is_remote_url(text));
        match (url, local) {
            (Some(url), local) => {
                let folder = local.unwrap_or(Self::BESIDE.as_ref()).to_owned();
                Ok(Self { folder, bucket: Some(url.to_owned()) })
            }
            (None, None) => Ok(Self { folder: place.to_owned(), bucket: None }),
            (None, Some(local)) => {
                Err(Error::NoBucket { place: place.to_owned(), local: local.to_owned() })
            }
        }
    }

    /// A folder; the address of a bucket is refused.
    pub fn folder(place: &Path) -> Result<Self, Error> {
        let location = Self::parse(place, None)?;
        match location.bucket {
            Some(url) => Err(Error::IsBucket { url }),
            None => Ok(location),
        }
    }

    /// The store in the folder, which is made where there is none.
    pub fn create(&self) -> Result<Store, Error> {
        Ok(Store::create_or_open(&self.folder)?)
    }

    /// The store in the folder, which exists unless there is a bucket.
    pub fn open(&self) -> Result<Store, Error> {
        match self.bucket {
            Some(_) => self.create(),
            None => Ok(Store::open(&self.folder)?),
        }
    }

    /// The store, with what the bucket has of a study.
    pub fn pulled(
        &self,
        plan: &Plan<'_>,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<Store, Error> {
        let store = self.open()?;
        if let Some(url) = &self.bucket {
            SharedStudy::open(url, plan, &store, progress, cancel)?;
        }
        Ok(store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_folder_or_a_bucket_with_a_folder_beside_it() {
        let parse = |place: &str, local: Option<&str>| {
            let location = Location::parse(place.as_ref(), local.map(Path::new))?;
            Ok::<_, Error>((location.folder.display().to_string(), location.bucket))
        };
        let bucket = || Some("s3://lab/votes".to_owned());
        assert_eq!(parse("a/b", None).unwrap(), ("a/b".to_owned(), None));
        assert_eq!(parse("s3://lab/votes", None).unwrap(), ("runs".to_owned(), bucket()));
        assert_eq!(parse("s3://lab/votes", Some("x")).unwrap(), ("x".to_owned(), bucket()));
        let error = parse("a", Some("x")).unwrap_err().to_string();
        assert!(error.contains("a is no bucket"), "{error}");
        let error = Location::folder("gs://lab/votes".as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("gs://lab/votes is a bucket"), "{error}");
    }
}
