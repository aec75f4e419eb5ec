/** Joins the document of a page with the document of the frame, because the first page requests both at once. */

/** Inserts the fields of the frame before the fields of a document; the first brace of each document opens its fields. */
export function joinedText(text: string, frameText: string): string {
  const fields = frameText.slice(frameText.indexOf('{') + 1)
  return text.replace('{', `{${fields.slice(0, fields.lastIndexOf('}'))}`)
}
