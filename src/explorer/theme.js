// Runs before the first paint: the theme that the reader chose, where it is not the one of the system.
try {
  const theme = localStorage.getItem('theme')
  if (theme) document.documentElement.dataset.theme = theme
} catch {}
