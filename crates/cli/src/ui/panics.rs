//! A panic is a bug of ours: say so, and where to report it. Panics of foreign readers that are
//! caught and become errors stay silent.

/// Installs the hook.
pub(crate) fn install() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if dissensus::io::parquet::is_guarded() {
            return;
        }
        default(panic);
        super::err(
            "This is a bug in dissensus. Please report it with the command that led here.\n",
        );
    }));
}
