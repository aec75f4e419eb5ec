/** Joins the document of a page with that of the frame, for the first page asks for both in one request. */

/** The document with the fields of the frame before its own; the first brace of each opens its fields. */
export function joinedText(text: string, frameText: string): string {
  const fields = frameText.slice(frameText.indexOf('{') + 1)
  return text.replace('{', `{${fields.slice(0, fields.lastIndexOf('}'))}`)
}
