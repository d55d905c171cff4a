//! The real command in folders of its own: what it prints, and its exit status.
#![allow(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

mod agreement;
mod calls;
mod check;
mod command;
mod common;
mod completions;
mod explain;
mod formats;
mod generate;
mod init;
mod kmc;
mod optimise;
mod package;
mod pairs;
mod subtype;
mod together;
