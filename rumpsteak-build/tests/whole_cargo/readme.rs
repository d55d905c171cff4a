//! The README's example, exactly as it stands there: it runs and prints what the README says, and its mistake gives the
//! message that the README begins with.

use std::fs;

use crate::harness::{Package, dependency, workspace};

/// The blocks of code of a text, each with the file that it is: the name in backticks that begins the line above it.
fn blocks(text: &str) -> Vec<(Option<String>, String)> {
    let mut blocks = Vec::new();
    let mut above = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let name = above
                .strip_prefix('`')
                .and_then(|rest| rest.split_once('`'))
                .filter(|(name, _)| {
                    name.ends_with(".rs") || name.contains('/') || name.ends_with(".toml")
                });
            blocks.push((
                name.map(|(name, _)| name.to_owned()),
                format!("{}\n", body.join("\n")),
            ));
        } else if !line.trim().is_empty() {
            above = line;
        }
    }
    blocks
}

/// The text without blanks at the ends of its lines.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

#[test]
fn the_example_of_the_readme_runs_and_its_mistake_is_refused() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let (_, diagnostic) = &blocks(&readme)[0];
    let (_, section) = readme.split_once("\n## A complete example\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();

    let package = Package::bare("readme");
    let blocks = blocks(section);
    let mut files = Vec::new();
    for (name, text) in &blocks {
        let Some(name) = name else { continue };
        files.push(name.as_str());
        let text = match name.as_str() {
            "Cargo.toml" => {
                let manifest = ["runtime", "build"]
                    .iter()
                    .fold(text.clone(), |text, part| {
                        let name = format!("rumpsteak-{part}");
                        let published = format!("{name} = \"0.1\"");
                        assert!(text.contains(&published), "{text}");
                        text.replace(&published, &format!("{name} = {}", dependency(&name)))
                    });
                // The folder is below that of this workspace, and no part of it.
                format!("{manifest}\n[workspace]\n")
            }
            _ => text.clone(),
        };
        package.write(name, &text);
    }
    assert_eq!(
        files,
        [
            "Cargo.toml",
            "protocols/double_buffering.scr",
            "build.rs",
            "src/main.rs"
        ]
    );

    let (success, printed, said) = package.run("run");
    assert!(success, "{said}");
    assert!(!said.contains("warning"), "{said}");
    let Some((None, expected)) = blocks.last() else {
        panic!("the last block is what the example prints")
    };
    assert_eq!(printed, *expected);

    // The mistake.
    let mistake = "type Kernel = KernelLoop;";
    assert!(section.contains(&format!("`{mistake}`")));
    package.edit(
        "src/main.rs",
        "type Kernel = Send<S, Ready, KernelLoop>;",
        mistake,
    );
    let (success, _, said) = package.run("build");
    assert!(!success);
    let (said, diagnostic) = (trimmed(&said), trimmed(diagnostic));
    assert!(
        said.contains(&diagnostic),
        "README shows:\n{diagnostic}\n\nCargo prints:\n{said}"
    );
}
