/** An identicon of an id, which makes the same party recognisable in a list: 5 × 5 squares, symmetric, in two tones. */
export function Sign({ of: id }: { readonly of: string }) {
  const { path, hue } = drawn(id)
  return (
    <svg class="sign" viewBox="0 0 5 5" aria-hidden="true" style={{ '--hue': String(hue) }}>
      <path class="sign-ground" d="M0 0h5v5H0z" />
      <path class="sign-squares" d={path} />
    </svg>
  )
}

/** Derives the squares of the left half and the middle (fifteen bits) and one of twelve hues from a hash of the text. */
function drawn(id: string): { readonly path: string; readonly hue: number } {
  const bits = hashOf(id)
  let path = ''
  for (let n = 0; n < 15; n++) {
    if (((bits >>> n) & 1) === 0) continue
    const [x, y] = [n % 3, Math.floor(n / 3)]
    path += square(x, y)
    if (x < 2) path += square(4 - x, y)
  }
  return { path, hue: ((bits >>> 16) % 12) * 30 }
}

function square(x: number, y: number): string {
  return `M${x} ${y}h1v1h-1z`
}

/** FNV-1a with additional mixing, so that ids that differ in one digit look different. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let n = 0; n < text.length; n++) {
    hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
