export const handler = 'misspelt';
