//! The mistakes in `ui/`, one in each file, and what rustc says about each.
//!
//! After a change of wording: `TRYBUILD=overwrite cargo test -p rumpsteak-ui-tests --test ui`, then
//! read what changed.

#[test]
fn mistakes_do_not_compile() {
    // The inner cargo inherits OUT_DIR, where the verdicts are, from `cargo test`. A test binary
    // that is run by hand has none, and each case would say so instead of what it is about.
    assert!(
        std::env::var_os("OUT_DIR").is_some(),
        "run this test through `cargo test`"
    );
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
