// Heights in CSS pixels that the list and its styles share.

/** A row with the space around it. */
export const rowHeight = 50

/** The header of a group. */
export const headerHeight = 32
