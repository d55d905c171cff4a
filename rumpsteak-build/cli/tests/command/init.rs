//! `init`.

use std::{env, fs, process};

use crate::common::{Folder, says};

/// README's first example is built and run by a test of its own.
#[test]
fn a_package_is_the_first_example_of_the_readme() {
    let folder = Folder::new("init").with("Cargo.toml", "[workspace]\nresolver = \"3\"\n");
    let run = folder.call("init jobs").exits(0).says("");
    // Cargo begins no repository inside of another one.
    let (ignored, repository) = match folder.path().join("jobs/.git").exists() {
        true => (", .gitignore", ", and began a git repository"),
        false => ("", ""),
    };
    assert_eq!(
        run.stdout,
        format!(
            "wrote Cargo.toml{ignored}, protocols/jobs.scr, build.rs, src/main.rs in {}{repository}\n\
             `cargo run` verifies the protocol's roles and runs them\n",
            folder.path().join("jobs").display()
        )
    );
    let read = |file: &str| fs::read_to_string(folder.path().join("jobs").join(file)).unwrap();
    let readme = include_str!("../../../../README.md");
    for (file, fence) in [("protocols/jobs.scr", "scribble"), ("src/main.rs", "rust,ignore")] {
        says(readme, &format!("\n```{fence}\n{}```\n", read(file)));
    }
    says(&read("build.rs"), "rumpsteak_build::verify(\"protocols\")?;");
    let manifest = read("Cargo.toml");
    let adds = |of: &str| manifest.contains(&format!("\n{of} = {{ "));
    assert!(["rumpsteak", "rumpsteak-build", "tokio"].into_iter().all(adds), "{manifest}");
    assert!(!manifest.contains("profile"), "Cargo warns of a member's profile: {manifest}");
    // Or with a protocol of one's own, and a program to fill in.
    let own = "sig <rust> \"super::Stop\" as stop; type <rust> \"std::vec::Vec<crate::Job>\" as Jobs; global protocol Ping(role a, role b) { stop from b to a; ping(Jobs) from a to b; }";
    let folder = folder.with("ping.scr", own);
    // Outside of any workspace.
    let ping = env::temp_dir().join(format!("rumpsteak-init-{}", process::id()));
    let run = folder.call(&format!("init {} --protocol ping.scr", ping.display())).exits(0);
    says(&run.stdout, "\nfill in each `todo!()`: `cargo run` verifies");
    let read = |file: &str| fs::read_to_string(ping.join(file)).unwrap();
    let program = read("src/main.rs");
    says(&read("Cargo.toml"), "\n[profile.dev.build-override]\nincremental = false\n");
    says(&program, "pub struct Job {}\n\n/// A payload, to fill in.\npub struct Stop {}\n\n#[");
    says(&program, "#[rumpsteak::protocol(Ping)]\nmod ping {}\nuse ping::*;\n");
    says(&program, "    let s = s.send(Ping(todo!())).await?;\n    return s.end(());\n");
    fs::remove_dir_all(&ping).unwrap();
    // A file that exists is left as it is.
    let again = folder.call("init jobs").exits(2).prints("");
    says(&again.stderr, "protocols/jobs.scr is there already");
    let elsewhere = folder.call("init other --source nowhere").exits(2).prints("");
    says(&elsewhere.stderr, "no clone of rumpsteak: no nowhere/rumpsteak-runtime\nhelp: say where");
}
