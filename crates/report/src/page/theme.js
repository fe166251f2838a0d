// Before anything is drawn: the ground that was chosen the last time.
try {
  const theme = localStorage.getItem('dissensus-theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch { /* Storage may be off; the system's choice holds then. */ }
