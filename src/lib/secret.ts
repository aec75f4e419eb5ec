/** A text that must not be printed. JSON, templates and the inspector of Node show a placeholder. */
export interface Secret {
  /** Returns the text itself. */
  reveal(): string
  toJSON(): string
  toString(): string
}

/** Wraps a text that must not be printed. */
export function createSecret(text: string): Secret {
  const veiled = () => '[secret]'
  return { reveal: () => text, toJSON: veiled, toString: veiled }
}
