//! Addresses, and the directory of a session's roles.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The address of a role: `scheme://place`, for example `tcp://10.0.0.7:4000`. The scheme chooses
/// the [transport](crate::transport::Transports), which interprets the place.
///
/// ```
/// use rumpsteak_net::Address;
///
/// let address: Address = "tcp://localhost:4000".parse()?;
/// assert_eq!((address.scheme(), address.place()), ("tcp", "localhost:4000"));
/// assert!("localhost:4000".parse::<Address>().is_err());
/// # Ok::<(), rumpsteak_net::AddressError>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address {
    pub(crate) scheme: Arc<str>,
    place: Arc<str>,
}

/// The error of a text that is not an address.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{text}` is not an address: write `scheme://place`, as in `tcp://localhost:4000`")]
pub struct AddressError {
    text: String,
}

impl Address {
    pub(crate) fn new(scheme: &str, place: &str) -> Self {
        Self { scheme: scheme.into(), place: place.into() }
    }

    /// The name of the transport.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The part after `://`.
    pub fn place(&self) -> &str {
        &self.place
    }
}

pub(crate) fn addresses_of(
    texts: impl IntoIterator<Item: AsRef<str>>,
) -> Result<Vec<Address>, AddressError> {
    texts.into_iter().map(|text| text.as_ref().parse()).collect()
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.split_once("://") {
            Some((scheme, place)) if !scheme.is_empty() && !place.is_empty() => {
                Ok(Self::new(scheme, place))
            }
            _ => Err(AddressError { text: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for Address {
    type Error = AddressError;

    fn try_from(text: String) -> Result<Self, AddressError> {
        text.parse()
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.to_string()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.place)
    }
}

/// The addresses of roles, by the names of the roles: see [`Join::peers`](crate::Join::peers).
///
/// It is read from any format that `serde` knows, such as TOML:
///
/// ```text
/// s = ["tcp://10.0.0.7:4000", "wss://shop.example/s"]
/// l = ["tcp://10.0.0.8:4000"]
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Directory {
    addresses: BTreeMap<String, Vec<Address>>,
}

impl Directory {
    /// Adds addresses of a role. Fails if a text is not an address.
    pub fn with(
        mut self,
        role: &str,
        addresses: impl IntoIterator<Item: AsRef<str>>,
    ) -> Result<Self, AddressError> {
        self.addresses.entry(role.to_owned()).or_default().extend(addresses_of(addresses)?);
        Ok(self)
    }

    /// The directory in the environment: with the prefix `SHOP`, the variable `SHOP_S` has the
    /// addresses of the role `s`, with commas between them. Fails if a text is not an address.
    pub fn from_env(prefix: &str) -> Result<Self, AddressError> {
        Self::from_vars(prefix, std::env::vars())
    }

    /// As [`from_env`](Self::from_env), for these variables.
    pub fn from_vars(
        prefix: &str,
        vars: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, AddressError> {
        let mut addresses = BTreeMap::new();
        for (name, places) in vars {
            let role = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
            let Some(role) = role.filter(|role| !role.is_empty()) else { continue };
            addresses.insert(role.to_lowercase(), addresses_of(places.split(',').map(str::trim))?);
        }
        Ok(Self { addresses })
    }

    /// The addresses of a role; upper and lower case are the same.
    pub(crate) fn of(&self, role: &str) -> Vec<Address> {
        let same = || self.addresses.iter().find(|(name, _)| name.eq_ignore_ascii_case(role));
        let found = self.addresses.get_key_value(role).or_else(same);
        found.map(|(_, addresses)| addresses.clone()).unwrap_or_default()
    }
}
