//! Addresses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where a role can be reached: `scheme://place`, for example `tcp://10.0.0.7:4000`.
///
/// The scheme chooses the [transport](crate::transport::Transports), which knows what the place
/// means.
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
    text: String,
    /// The length of the scheme.
    scheme: usize,
}

/// The error of a text that is not an address.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{text}` is no address: write `scheme://place`, as in `tcp://localhost:4000`")]
pub struct AddressError {
    text: String,
}

const SEPARATOR: &str = "://";

impl Address {
    pub(crate) fn new(scheme: &str, place: &str) -> Self {
        Self { text: format!("{scheme}{SEPARATOR}{place}"), scheme: scheme.len() }
    }

    /// The name of the transport.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.text[..self.scheme]
    }

    /// What follows `://`.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.text[self.scheme + SEPARATOR.len()..]
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
        match text.split_once(SEPARATOR) {
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
        address.text
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
