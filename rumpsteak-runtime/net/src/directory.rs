//! Where the roles of a session are.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Address, AddressError};

/// Where roles are, by their names: see [`Join::peers`](crate::Join::peers).
///
/// It is read from any format that `serde` knows, such as TOML:
///
/// ```text
/// s = ["tcp://10.0.0.7:4000", "wss://shop.example/s"]
/// l = ["tcp://10.0.0.8:4000"]
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(transparent)]
pub struct Directory {
    addresses: BTreeMap<String, Vec<Address>>,
}

impl Directory {
    /// The directory in the environment: with the prefix `SHOP`, the variable `SHOP_S` has the
    /// addresses of the role `s`, with commas between them.
    ///
    /// # Errors
    ///
    /// If a text is no address.
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
            let places = places.split(',').map(|place| place.trim().parse());
            addresses.insert(role.to_lowercase(), places.collect::<Result<_, _>>()?);
        }
        Ok(Self { addresses })
    }

    /// Where a role is; upper and lower case are the same.
    pub(crate) fn of(&self, role: &str) -> Vec<Address> {
        let exact = self.addresses.get(role);
        let same = |name: &&String| name.eq_ignore_ascii_case(role);
        let found = exact.or_else(|| Some(&self.addresses[self.addresses.keys().find(same)?]));
        found.cloned().unwrap_or_default()
    }
}
