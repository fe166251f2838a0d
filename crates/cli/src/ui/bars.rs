//! Bars drawn with eighths of a character.

/// A bar of `value` out of `most`, padded to `width` characters.
pub(crate) fn bar(value: f64, most: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    // Something is never drawn as nothing.
    let eighths = if value > 0.0 { eighths.max(1) } else { eighths };
    let part = PARTS[eighths % 8];
    let drawn = eighths / 8 + usize::from(!part.is_empty());
    format!("{}{part}{}", "█".repeat(eighths / 8), " ".repeat(width.saturating_sub(drawn)))
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn lengths() {
        assert_eq!(bar(1.0, 1.0, 3), "███");
        assert_eq!(bar(0.5, 1.0, 3), "█▌ ");
        assert_eq!(bar(0.0, 1.0, 3), "   ");
        assert_eq!(bar(1e-9, 1.0, 3), "▏  ");
        assert_eq!(bar(1.0, 0.0, 2), "▏ ");
    }
}
