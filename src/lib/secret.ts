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

/** Hides the user, the password and the query of every URL in a text. */
export function withoutCredentials(text: string): string {
  return text
    .replace(/(\w:\/\/)\S*@/g, '$1[secret]@')
    .replace(/(\w:\/\/[^\s?]*\?)\S+/g, '$1[secret]')
}
