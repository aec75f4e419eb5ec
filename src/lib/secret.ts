/** A text that must not be printed: neither JSON, nor a template, nor the inspector shows it. */
export interface Secret {
  /** The text itself, for the one place that needs it. */
  reveal(): string
  toJSON(): string
  toString(): string
}

/** Wraps a text that must not be printed. */
export function createSecret(text: string): Secret {
  const veiled = () => '[secret]'
  return { reveal: () => text, toJSON: veiled, toString: veiled }
}
