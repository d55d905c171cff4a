//! The examples of this package are the protocols of the papers as programs. Each is one file beside
//! this folder, and is verified against its protocol in `protocols/` when it is built:
//!
//! ```text
//! cargo run -p rumpsteak-examples --example double_buffering
//! ```
//!
//! What other packages measure is here: [`fft`].

pub mod fft;
