# What contributors do daily. `just` alone lists the recipes; https://just.systems

_default:
    @just --list

# Build the release program: target/release/dissensus
build:
    cargo build --release --locked

# Test one crate, given by its folder in crates/: `just test-crate votes`, `just test-crate stats wilcoxon`
test-crate crate *filter:
    cargo test --locked --manifest-path crates/{{ crate }}/Cargo.toml {{ filter }}

# Test everything
test:
    cargo test --workspace --locked

# Format, then lint with warnings denied
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Build the API documentation and open it
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --open

# Run the commands of one guide: `just guide score-a-model`
guide name: build
    scripts/run-guide.sh target/release/dissensus docs/guides/{{ name }}.md

# Run everything that must pass before a change is merged
ci:
    .ci/run
