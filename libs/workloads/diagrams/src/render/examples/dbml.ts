import { source, type Example } from './example.js';

const dbml = source('dbml');

export const DBML: readonly Example[] = [
  {
    name: 'Blog',
    ...dbml`
      Table users {
        id integer [pk]
        name varchar [not null]
        created_at timestamp
      }
      Table posts {
        id integer [pk]
        author_id integer [not null]
        title varchar
        status post_status
      }
      Table comments {
        id integer [pk]
        post_id integer
        user_id integer
        body text
      }
      Enum post_status {
        draft
        published
      }
      Ref: posts.author_id > users.id
      Ref: comments.post_id > posts.id
      Ref: comments.user_id > users.id
    `,
  },
  {
    name: 'Bookings',
    ...dbml`
      Table guest {
        id uuid [pk]
        email text [unique]
      }
      Table room {
        id uuid [pk]
        number int [not null]
        beds int
      }
      Table booking {
        id uuid [pk]
        guest_id uuid [ref: > guest.id]
        room_id uuid [ref: > room.id]
        arrives date [not null]
        leaves date [not null]
      }
      Table payment {
        id uuid [pk]
        booking_id uuid [ref: - booking.id]
        amount numeric
      }
    `,
  },
];
