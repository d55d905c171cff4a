//! Source text: rustc and the build script read the same tokens, and say so where they do not.

use rumpsteak_contract::verdict::stamp;

use super::harness::{IMPORTS, KERNEL, OTHERS, Package, ROLES, dependency, double_buffering};

/// Tokens of every sort, as the user writes them.
const TOKENS: &str = r##"
    r#type r#loop 'static 'a' b'\xff' "\u{e9}\n" r#"raw"# b"\0" c"c"
    -1 -1.5e-3_f32 0x_ff_u8 1_000 1..=2 >>= >> << :: -> => &&mut ||x| $ ? #![inner] # [outer]
    Vec<Vec<Vec<u8>>> fn(&'static str) -> [u8; 3] { ( [ ] ) }
    /* a comment /* in a comment */ */ // and one at the end of the line
"##;

#[test]
fn rustc_and_the_build_script_read_the_same_tokens() {
    let package = Package::new("source-tokens");
    let text = double_buffering();
    let route = format!("#[route(S)] /** The source. */ s: any!{{{TOKENS}}},");
    let text = text.replace("#[route(S)] s: Channel<Label>,", &route);
    assert!(text.contains(TOKENS));
    // That the entry of the role is found shows at an error in it.
    let text =
        text.replace("#[protocol(DoubleBuffering::k)]", "#[protocol(DoubleBuffering::r#fn)]");
    let text = text.replace("pub struct K {", "/// The kernel.\n#[doc(hidden)] pub struct K {");
    let any = "macro_rules! any { ($($any:tt)*) => { Channel<Label> } }\n";
    package
        .write("src/lib.rs", &text.replace("#[derive(Roles)]", &format!("{any}#[derive(Roles)]")));
    let outcome = package.check(&[]);
    let errors = outcome.errors();
    assert!(
        errors.iter().any(|error| error.token == "r#fn" && error.text.contains("no role")),
        "{}",
        outcome.show()
    );

    package.edit("src/lib.rs", "DoubleBuffering::r#fn", "DoubleBuffering::r#k");
    package.check(&[]).passes();
}

#[test]
fn verdicts_of_another_version_are_refused() {
    let package = Package::new("source-version");
    package.check(&[]).passes();
    let version = env!("CARGO_PKG_VERSION");
    let text = package.verdicts();
    assert!(text.starts_with(version), "{text}");
    let other = text.replacen(version, "0.0.7", 1);
    // A build script of that version: it writes its file, and tells rustc the stamp of it.
    package.write("verdicts.txt", &other).write(
        "build.rs",
        &format!(
            "fn main() {{
                let out = std::path::PathBuf::from(std::env::var_os(\"OUT_DIR\").unwrap()).join(\"rumpsteak\");
                std::fs::create_dir_all(&out).unwrap();
                std::fs::copy(\"verdicts.txt\", out.join(\"verdicts.txt\")).unwrap();
                println!(\"cargo::rustc-env=RUMPSTEAK_VERDICTS={}\");
            }}",
            stamp(&other)
        ),
    );
    package.check(&[]).error().says(&format!(
        "was not verified: the verdicts were written by rumpsteak-build 0.0.7, but this is \
         rumpsteak-runtime {version}: use the same version of both"
    ));
}

#[test]
fn a_file_that_cannot_be_read_is_said_once() {
    let package = Package::new("source-unreadable");
    let text = [IMPORTS, "mod first; mod second;", ROLES, OTHERS, KERNEL].join("\n");
    package.write("src/lib.rs", &text);
    let role = ROLES.replace("#[protocol(DoubleBuffering::", "#[protocol(Other::");
    let session = "#[session(K)] pub struct Only(Send<S, Ready, Self>);\n";
    let first = format!("{IMPORTS}{role}{session}");
    let second = "use super::*;\n#[session] pub struct One(Send<S, Ready, Self>);\n\
                  #[session] pub struct Two(Send<S, Ready, Self>);\n";
    let files = [("src/first.rs", &*first), ("src/second.rs", second)];
    for (file, text) in files {
        package.write(file, text);
    }
    // The files as the build script finds them, while somebody types; rustc comes later.
    package.write(
        "build.rs",
        "fn main() -> Result<(), Box<dyn std::error::Error>> {
            let files = [\"src/first.rs\", \"src/second.rs\"];
            let texts = files.map(|file| std::fs::read_to_string(file).unwrap());
            for (file, text) in std::iter::zip(files, &texts) {
                std::fs::write(file, format!(\"{text}const HALF: &str = \\\"\"))?;
            }
            let verified = rumpsteak_build::verify(\"protocols\");
            for (file, text) in std::iter::zip(files, texts) {
                std::fs::write(file, text)?;
            }
            verified?;
            Ok(())
        }",
    );
    let outcome = package.check(&[]);
    for (file, text) in files {
        let line = text.lines().count() + 1;
        let byte = format!("{text}const HALF: &str = ").len();
        let expected = format!(
            "the build script cannot read this file from byte {byte} on, in line {line} [V0702]\n\n\
             note: no session, role or set of the file was verified"
        );
        let errors = outcome.errors().into_iter();
        let of_file = errors.filter(|error| error.file == file);
        let texts: Vec<&str> = of_file.map(|error| error.text.as_str()).collect();
        assert!(
            matches!(texts[..], [only] if only.ends_with(&expected)),
            "{expected}\n{}",
            outcome.show()
        );
    }
}

#[test]
fn the_dependency_may_have_another_name() {
    let package = Package::new("source-renamed");
    let renamed = format!(
        "rt = {{ package = \"rumpsteak-runtime\", path = {:?} }}",
        super::harness::workspace().join("rumpsteak-runtime")
    );
    let dependency = format!("rumpsteak-runtime = {}", dependency("rumpsteak-runtime"));
    package.edit("Cargo.toml", &dependency, &renamed);
    let text = double_buffering()
        .replace("rumpsteak_runtime", "rt")
        .replace("#[session(K)]", "#[session(K, crate = \"rt\")]")
        .replace("#[session(S)]", "#[session(S, crate = \"rt\")]")
        .replace("#[session(T)]", "#[session(T, crate = \"rt\")]")
        .replace("#[session]", "#[session(crate = \"rt\")]")
        .replace("#[derive(Role)]", "#[derive(Role)]\n#[rumpsteak(crate = \"rt\")]")
        .replace("#[derive(Roles)]", "#[derive(Roles)]\n#[rumpsteak(crate = \"rt\")]")
        .replace("#[derive(Message)]", "#[derive(Message)]\n#[rumpsteak(crate = \"rt\")]");
    package.write("src/lib.rs", &text);
    package.check(&[]).passes();

    package.edit(
        "build.rs",
        "rumpsteak_build::verify(\"protocols\")",
        "rumpsteak_build::configure().protocols(\"protocols\").generate().verify()",
    );
    let included = "mod generated { rt::protocol!(pub DoubleBuffering, crate = \"rt\"); }\n\
                    pub fn roles() { drop(generated::double_buffering::Roles::default()); }";
    package.write("src/lib.rs", included);
    package.check(&[]).passes();
}

#[test]
fn files_of_any_size_and_encoding() {
    let package = Package::new("source-size");
    let line = "fn f() { let x = [1, 2.5, 'c']; /* words */ g(\"text\", &x); }\n";
    package
        .write("hostile/large.rs", &line.repeat(10_000_000 / line.len()))
        .write_bytes("hostile/latin.rs", b"const E: &str = \"\xe9\";")
        .write(
            "build.rs",
            "fn main() -> Result<(), rumpsteak_build::Report> {
                rumpsteak_build::configure().protocols(\"protocols\")
                    .sources([\"hostile/large.rs\", \"hostile/latin.rs\"]).verify().map(drop)
            }",
        );
    package.check(&[]).passes();
}
