//! What the build script keeps for its next run: never a proof, and never more than it wrote itself.

use std::fs;

use crate::harness::Package;

const CACHE: &str = "rumpsteak/cache.txt";

/// Makes the script run again, on a package with nothing changed that matters.
fn touch(package: &Package, comment: &str) {
    let text = package.read("src/lib.rs");
    package.write("src/lib.rs", &format!("{text}// {comment}\n"));
}

#[test]
fn an_unsafe_edit_after_a_pass_is_refused() {
    let package = Package::new("cache-unsafe");
    package.check(&[]).passes();
    let first = package.verdicts();
    let kept = fs::read_to_string(package.out(CACHE)).unwrap_or_default();
    assert!(kept.starts_with("rumpsteak-cache 1 "), "{kept}");
    assert!(kept.contains("\ncapacities Limits"), "{kept}");

    touch(&package, "changed");
    let again = package.check(&[]);
    assert!(again.passes().ran_script());
    assert_eq!(package.verdicts(), first);
    let unchanged = fs::read_to_string(package.out(CACHE)).unwrap_or_default();
    assert_eq!(unchanged, kept);

    let (early, late) = (
        "Send<S, Ready, KernelLoop>;",
        "Receive<S, Value, KernelLoop>;",
    );
    package.edit("src/lib.rs", early, late);
    let outcome = package.check(&[]);
    assert!(!outcome.success);
    outcome.errors()[0]
        .is_at("src/lib.rs", "Receive")
        .says("unsafe reordering: `Kernel` receives `Value` from `S`");
    package.edit("src/lib.rs", late, early);
    package.check(&[]).passes();
    assert_eq!(package.verdicts(), first);
}

#[test]
fn a_file_that_is_not_of_this_script_is_not_believed() {
    let package = Package::new("cache-foreign");
    package.check(&[]).passes();
    let first = package.verdicts();
    assert!(first.contains("\tat-most\t"), "{first}");
    let file = package.out(CACHE);
    let kept = fs::read(&file).unwrap_or_default();
    let text = String::from_utf8_lossy(&kept).into_owned();
    assert!(text.contains(" at-most 2\n"), "{text}");
    let others: [Vec<u8>; 6] = [
        Vec::new(),
        kept[..kept.len() / 2].to_vec(),
        [0xff, 0xfe, 0].repeat(1_000),
        // An answer that is another one.
        text.replace(" at-most 2\n", " at-most 1\n").into_bytes(),
        // Another version, and another build of the same.
        text.replace("rumpsteak-cache 1 ", "rumpsteak-cache 1 9.")
            .into_bytes(),
        text.replace(" at-most 2\n", " at-most 2\n0 0 at-most 0\n")
            .into_bytes(),
    ];
    for (number, other) in others.iter().enumerate() {
        fs::write(&file, other).unwrap_or_else(|error| panic!("{error}"));
        touch(&package, &format!("{number}"));
        let outcome = package.check(&[]);
        assert!(outcome.passes().ran_script());
        assert_eq!(package.verdicts(), first, "{number}");
        assert_eq!(fs::read(&file).unwrap_or_default(), kept, "{number}");
    }
    // None at all, where none can be written.
    fs::remove_file(&file).unwrap_or_else(|error| panic!("{error}"));
    touch(&package, "none");
    package.check(&[]).passes();
    assert_eq!(package.verdicts(), first);
}
