#![cfg_attr(feature = "a", allow(dead_code))]
rumpsteak_runtime::protocol!(P, crate = "rt");
rumpsteak_runtime::include_protocols!();
#[path = "lib.rs"] mod again;
#[cfg(all(unix, not(feature = "b"), any(test, target_os = "linux")))] mod r#type { pub use super::*; include!("lib.rs"); }
mod a { pub mod b { pub(in crate::a) use crate::{self as root, a::{b as c, *}}; } use self::b::root::a as d; }
macro_rules! m { ($($x:tt)*) => { $($x)* } } m! { mod hidden; }
#[closed_system] #[derive(Roles)] struct Set { one: One }
#[derive(Role)] #[message(L)] struct One;
const C: &str = r##"raw "# string"##; const D: u8 = b'\''; fn f<'a>(x: &'a str) -> char { '\u{1F600}' }
/* a /* nested */ comment */ /// doc
extern crate rumpsteak_runtime as rt; use rt::session as s;
#[s(One)] type Α = Send<'static, One, Label, End>;
