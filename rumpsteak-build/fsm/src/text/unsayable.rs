//! Why a machine cannot be written in a form.

use std::error::Error;
use std::fmt;

use super::form::Form;
use crate::machine::Role;

/// Why machines cannot be written in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsayable {
    /// The form.
    pub form: Form,
    /// The machine, where it is about one.
    pub role: Option<Role>,
    /// What cannot be said and what to do.
    pub message: String,
}

impl Unsayable {
    pub(super) fn new(form: Form, role: &Role, message: impl Into<String>) -> Self {
        Self { form, role: Some(role.clone()), message: message.into() }
    }
}

impl fmt::Display for Unsayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.role {
            Some(role) => write!(f, "the machine of `{role}`: {}", self.message),
            None => self.message.fmt(f),
        }
    }
}

impl Error for Unsayable {}
