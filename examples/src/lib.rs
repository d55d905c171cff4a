//! The examples of this package are the protocols of the papers as programs: each row of PPoPP'22,
//! Table 1, which includes COORDINATION'21, Fig. 6. Each is one file beside this folder, and is
//! verified against its protocol in `protocols/` when it is built:
//!
//! ```text
//! cargo run -p rumpsteak-examples --example double_buffering
//! ```
//!
//! A program prints its result, and exits with 0 only if the result is right. `README.md` has
//! a table with the verdict on each.
//!
//! This library has the parts that they share: [`conclude`] and [`processes`], and the roles that
//! other packages measure: [`fft`], [`jacobi`] and [`n_body`].

use std::fmt::Debug;
use std::process::ExitCode;

pub mod fft;
pub mod jacobi;
pub mod n_body;
pub mod processes;

/// Ends an example: prints the value if it is the expected one, and otherwise the mistake. Returns
/// the exit status.
pub fn conclude<T, E>(computed: Result<T, E>, expected: T) -> ExitCode
where
    T: Debug + PartialEq,
    E: Debug,
{
    match judge(computed, &expected) {
        Ok(()) => {
            println!("computed {expected:?}, which is right");
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::FAILURE
        }
    }
}

/// Compares a value with the expected one.
///
/// # Errors
///
/// The mistake, in a sentence: another value, or the error of the example.
pub fn judge<T, E>(computed: Result<T, E>, expected: &T) -> Result<(), String>
where
    T: Debug + PartialEq,
    E: Debug,
{
    match computed {
        Ok(value) if value == *expected => Ok(()),
        Ok(value) => Err(format!("computed {value:?} instead of {expected:?}")),
        Err(error) => Err(format!("no result: {error:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{conclude, judge};
    use std::process::ExitCode;

    /// An `ExitCode` cannot be compared.
    #[track_caller]
    fn assert_exit(actual: ExitCode, expected: ExitCode) {
        assert_eq!(format!("{actual:?}"), format!("{expected:?}"));
    }

    #[test]
    fn what_is_wrong_is_a_failure() {
        assert_exit(conclude::<_, ()>(Ok(42), 42), ExitCode::SUCCESS);
        assert_exit(conclude::<_, ()>(Ok(41), 42), ExitCode::FAILURE);
        assert_exit(conclude(Err("closed"), 42), ExitCode::FAILURE);
    }

    #[test]
    fn what_is_expected_is_right() {
        assert_eq!(judge::<_, ()>(Ok(42), &42), Ok(()));
    }

    #[test]
    fn another_value_is_wrong() {
        let wrong = judge::<_, ()>(Ok(41), &42);
        assert_eq!(wrong, Err("computed 41 instead of 42".to_owned()));
    }

    #[test]
    fn an_error_is_wrong() {
        let wrong = judge(Err("closed"), &42);
        assert_eq!(wrong, Err("no result: \"closed\"".to_owned()));
    }
}
